internal import HTTPEdge
public import PaymentCore

/// What is done with a card number in each field of a caller's request; one that stands anywhere else is refused.
public struct CardNumberFields: Sendable, Hashable {
    /// A field for which the rule can be set, by its name in the configuration.
    public enum Field: String, Sendable, Hashable, CaseIterable {
        /// The header `Idempotency-Key`.
        case key
        /// The payment's reference, and the parameter of a listing that looks for it.
        case reference
        /// The payment's metadata, names and values.
        case metadata
        /// The words of a cancel or a refund.
        case reason
        /// The instrument of a leg: some providers' tokens look like card numbers.
        case instrument
    }

    /// The fields that are not searched.
    public var accepted: Set<Field>

    /// Rules that search every field but these.
    public init(accepting accepted: Set<Field> = []) { self.accepted = accepted }

    /// What is done with a field.
    public subscript(field: Field) -> CardNumber.Rule { accepted.contains(field) ? .accept : .refuse }

    /// Whether what stands at this place of a body is not searched, with all that it holds.
    func accepts(_ field: FieldPath) -> Bool {
        guard !accepted.isEmpty else { return false }
        switch field.text {
        case "reference": return accepted.contains(.reference)
        case "metadata": return accepted.contains(.metadata)
        case "reason": return accepted.contains(.reason)
        case let text: return accepted.contains(.instrument) && text.wholeMatch(of: /legs\[\d+\]\.instrument/) != nil
        }
    }
}
