provider "aws" {
  region = "eu-west-1"
}

provider "aws" {
  alias  = "other"
  region = "eu-central-1"
}

data "aws_route53_zone" "this" {
  name = "pay.example.com"
}

# A standby whose database follows and whose cluster has no nodes.
module "site" {
  source = "../.."

  providers = {
    aws       = aws
    aws.other = aws.other
  }

  role         = "standby"
  tier         = { cluster = "warm", database = "warm", workload = "warm" }
  name         = "example"
  site         = "ireland"
  region       = "eu-west-1"
  cidr         = "10.20.0.0/16"
  other_site   = "frankfurt"
  other_region = "eu-central-1"
  domain       = "pay.example.com"
  zone_id      = data.aws_route53_zone.this.zone_id
}
