output "nat_addresses" {
  description = "Addresses from which each site calls providers, by site: for the providers' allow-lists. They outlive the site."
  value = {
    (local.a) = module.foundation_a.nat_addresses
    (local.b) = module.foundation_b.nat_addresses
  }
}

output "witness_url" {
  description = "Value of RECONCILED_SITE_WITNESS_URL for the pods, without the password."
  value       = module.witness.url
}

output "witness_address" {
  description = "Host name of the witness."
  value       = module.witness.address
}

output "witness_cidrs" {
  description = "Address ranges of the witness, to which the network policy `witness` holds the pods."
  value       = module.witness.cidrs
}

output "secrets_reader_policy_arn" {
  description = "IAM policy for whoever copies secrets into the clusters."
  value       = module.secrets.reader_policy_arn
}
