/// A dispute of a charge, as its provider shows it: the payer asks the money back through the bank (a chargeback).
///
/// While it is open the provider decides about the money. A refund beside it would pay twice once it is lost.
public struct Dispute: Sendable, Hashable, Codable {
    /// Where it stands.
    public enum State: String, Sendable, Hashable, Codable, CaseIterable {
        /// Nobody has decided.
        case open
        /// The charge stands.
        case won
        /// The payer has the money: the provider shows it as given back.
        case lost
    }

    /// The provider's reference of it.
    public let id: String
    /// The amount in question.
    public let amount: Money
    /// Where it stands.
    public let state: State

    /// A dispute.
    public init(id: String, amount: Money, state: State) {
        self.id = id
        self.amount = amount
        self.state = state
    }

    /// Why a refund failed that was not sent because of one.
    public static let code = "disputed"
    /// The longest reference that is kept, in bytes of UTF-8.
    public static let longestID = 128
    /// So many of one transaction are kept.
    public static let mostOfOne = 20

    /// Those that are kept, in their order: what is open, and the newest of what is over.
    public static func kept(_ disputes: [Dispute]) -> [Dispute] {
        var kept = disputes
        while kept.count > mostOfOne {
            kept.remove(at: kept.firstIndex { $0.state != .open } ?? kept.startIndex)
        }
        return kept
    }
}
