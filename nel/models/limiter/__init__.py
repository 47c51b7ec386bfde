"""The side of a run that shares the limits of an endpoint with other runs, through the service `nel
limiter serve`.
"""
