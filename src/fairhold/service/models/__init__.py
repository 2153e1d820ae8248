"""What stands in requests and answers: the contract of the OpenAPI document."""
