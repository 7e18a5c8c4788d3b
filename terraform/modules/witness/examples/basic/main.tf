provider "aws" {
  region = "eu-north-1"
}

ephemeral "aws_secretsmanager_random_password" "witness" {
  password_length     = 40
  exclude_punctuation = true
}

module "witness" {
  source = "../.."

  name            = "example"
  region          = "eu-north-1"
  cidr            = "10.30.0.0/24"
  zones           = ["eu-north-1a", "eu-north-1b", "eu-north-1c"]
  client_cidrs    = ["10.10.0.0/18", "10.20.0.0/18"]
  master_password = ephemeral.aws_secretsmanager_random_password.witness.random_password
}
