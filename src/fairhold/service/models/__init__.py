"""The fields of requests and answers: the contract of the OpenAPI document."""
