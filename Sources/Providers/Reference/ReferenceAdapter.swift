extension ProviderAdapter {
    /// The reference contract (`openapi/provider.yaml`): what an in-house service implements. Its wire carries the
    /// rules of every contract.
    public static let reference = ProviderAdapter(
        name: "reference",
        contracts: ["reference", "reference_sale", "stripe", "paypay", "gmo_pg", "listed"], convertsAmounts: true,
        notifications: nil, fixed: []
    ) { parts in
        ReferenceProvider(
            name: parts.name, contract: parts.contract, store: parts.store,
            amounts: parts.conversion.map(AmountFormat.converted) ?? .minorUnits, client: parts.client,
            clock: parts.clock)
    }
}
