provider "aws" {
  region = "eu-west-1"
}

provider "aws" {
  alias  = "witness"
  region = "eu-north-1"
}

module "link" {
  source = "../.."

  providers = {
    aws         = aws
    aws.witness = aws.witness
  }

  site_vpc_name    = "example-ireland"
  witness_vpc_name = "example-witness"
  witness_region   = "eu-north-1"
}
