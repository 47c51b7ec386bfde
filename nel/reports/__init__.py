"""Pages and tables for people, made from the artifact files alone.

A report is a pure function of the files: a clock, a host name or an absolute path would make it
differ after a resume.
"""
