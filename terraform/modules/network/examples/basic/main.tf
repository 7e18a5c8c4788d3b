provider "aws" {
  region = "eu-west-1"
}

module "network" {
  source = "../.."

  name   = "example-ireland"
  region = "eu-west-1"
  cidr   = "10.20.0.0/16"
  zones  = ["eu-west-1a", "eu-west-1b", "eu-west-1c"]
}
