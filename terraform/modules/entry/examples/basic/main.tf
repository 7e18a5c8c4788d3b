provider "aws" {
  region = "eu-west-1"
}

data "aws_route53_zone" "this" {
  name = "pay.example.com"
}

module "network" {
  source = "../../../network"

  name   = "example-ireland"
  region = "eu-west-1"
  cidr   = "10.20.0.0/16"
  zones  = ["eu-west-1a", "eu-west-1b", "eu-west-1c"]
}

module "entry" {
  source = "../.."

  name                   = "example-ireland"
  region                 = "eu-west-1"
  vpc_id                 = module.network.vpc_id
  vpc_cidr               = module.network.vpc_cidr
  subnet_ids             = module.network.public_subnet_ids
  zone_id                = data.aws_route53_zone.this.zone_id
  site_fqdn              = "ireland.pay.example.com"
  service_fqdn           = "api.pay.example.com"
  validates_service_name = true
  expects_pods           = true
}
