"""Pages and tables for people, made from the artifact files alone. Knows nothing of the store or the engine.

Trap: a report is a pure function of the files; a clock, a host name or an absolute path would break its equality
across resumes.
"""
