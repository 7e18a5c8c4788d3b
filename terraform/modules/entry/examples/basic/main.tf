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

module "entry" {
  source = "../.."

  name            = "example-ireland"
  region          = "eu-west-1"
  vpc_id          = module.network.vpc_id
  vpc_cidr        = module.network.vpc_cidr
  subnet_ids      = module.network.public_subnet_ids
  certificate_arn = "arn:aws:acm:eu-west-1:123456789012:certificate/00000000-0000-0000-0000-000000000000"
  expects_pods    = true
}
