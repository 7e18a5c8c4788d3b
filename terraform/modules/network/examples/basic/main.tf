provider "aws" {
  region = "eu-west-1"
}

module "network" {
  source = "../.."

  name   = "example-ireland"
  region = "eu-west-1"
  cidr   = "10.20.0.0/16"
  # In production these come from the module foundation, in a state of its own.
  address_ids        = { eu-west-1a = "eipalloc-0a", eu-west-1b = "eipalloc-0b", eu-west-1c = "eipalloc-0c" }
  flow_logs_role_arn = "arn:aws:iam::123456789012:role/example-ireland-flow-logs"
  zones              = ["eu-west-1a", "eu-west-1b", "eu-west-1c"]
}
