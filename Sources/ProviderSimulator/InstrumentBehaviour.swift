/// What an instrument does, read from how its token begins.
///
/// The token itself is kept nowhere.
enum InstrumentBehaviour: String, Codable, Sendable {
    case approves
    /// `decline…`
    case declines
    /// `decline-unbound…`: never bound to the key, whatever the contract says of other declines.
    case declinesUnbound
    /// `capture-decline…`
    case declinesCapture
    /// `refund-decline…`
    case declinesRefund
    /// `action…`: the payer has to act first.
    case asksPayer
    /// `unknown…`
    case unknown

    init(instrument: String) {
        let beginnings: [(String, InstrumentBehaviour)] = [
            ("decline-unbound", .declinesUnbound), ("decline", .declines),
            ("capture-decline", .declinesCapture),
            ("refund-decline", .declinesRefund), ("action", .asksPayer), ("unknown", .unknown),
        ]
        self = beginnings.first { instrument.hasPrefix($0.0) }?.1 ?? .approves
    }
}
