provider "aws" {
  region = "eu-west-1"
}

# A key for databases, used through RDS by whoever may use RDS in this account.
module "key" {
  source = "../.."

  alias        = "example-database"
  description  = "Databases of the example"
  via_services = ["rds.eu-west-1.amazonaws.com"]
}
