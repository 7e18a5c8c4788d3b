provider "aws" {
  region = "eu-west-1"
}

module "alarms" {
  source = "../.."

  name   = "example-ireland"
  emails = ["on-call@example.com"]
}
