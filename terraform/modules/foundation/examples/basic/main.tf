provider "aws" {
  region = "eu-west-1"
}

data "aws_route53_zone" "this" {
  name = "pay.example.com"
}

module "foundation" {
  source = "../.."

  name                   = "example-ireland"
  other_name             = "example-frankfurt"
  region                 = "eu-west-1"
  other_region           = "eu-central-1"
  zones                  = ["eu-west-1a", "eu-west-1b", "eu-west-1c"]
  zone_id                = data.aws_route53_zone.this.zone_id
  site_fqdn              = "ireland.pay.example.com"
  service_fqdn           = "api.pay.example.com"
  validates_service_name = true
}
