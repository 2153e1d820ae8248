"""Workloads: records of other systems and tables read strictly, or jobs of tenants invented from a seed."""
