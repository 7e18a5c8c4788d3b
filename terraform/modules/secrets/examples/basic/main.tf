provider "aws" {
  region = "eu-north-1"
}

provider "aws" {
  alias  = "a"
  region = "eu-central-1"
}

provider "aws" {
  alias  = "b"
  region = "eu-west-1"
}

ephemeral "aws_secretsmanager_random_password" "store" {
  password_length     = 40
  exclude_punctuation = true
}

module "secrets" {
  source = "../.."

  providers = {
    aws   = aws
    aws.a = aws.a
    aws.b = aws.b
  }

  name           = "example"
  region         = "eu-north-1"
  site_regions   = ["eu-central-1", "eu-west-1"]
  generated      = ["store-password"]
  initial_values = { store-password = ephemeral.aws_secretsmanager_random_password.store.random_password }
  secrets = {
    store-password      = "Password of the daemon's role in PostgreSQL"
    provider-card-token = "Token for the provider card, put by hand"
  }
}
