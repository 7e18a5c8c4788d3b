# No resources: this directory is where `terraform test` and `terraform init` of the tests run. All modules share
# one initialisation that way, which is most of the time a test takes.
terraform {
  required_version = ">= 1.11, < 2.0"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.100"
    }
  }
}
