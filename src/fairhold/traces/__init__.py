"""Workloads: records of other systems and tables read strictly, or jobs of tenants invented from a seed.

`read_workload` reads the section `workload:` of a scenario, and what it names.
"""
