provider "aws" {
  region = "eu-west-1"
}

module "network" {
  source = "../../../network"

  name               = "example-ireland"
  region             = "eu-west-1"
  cidr               = "10.20.0.0/16"
  zones              = ["eu-west-1a", "eu-west-1b", "eu-west-1c"]
  address_ids        = { eu-west-1a = "eipalloc-0a", eu-west-1b = "eipalloc-0b", eu-west-1c = "eipalloc-0c" }
  flow_logs_role_arn = "arn:aws:iam::123456789012:role/example-ireland-flow-logs"
}

# A warm cluster: the control plane runs, and no node does.
module "cluster" {
  source = "../.."

  name             = "example-ireland"
  region           = "eu-west-1"
  cluster_role_arn = "arn:aws:iam::123456789012:role/example-ireland-cluster"
  node_role_arn    = "arn:aws:iam::123456789012:role/example-ireland-node"
  subnet_ids       = module.network.private_subnet_ids
  administrators   = ["arn:aws:iam::123456789012:role/platform"]
  front            = { min = 0, desired = 0 }
  batch            = { min = 0, desired = 0 }
}
