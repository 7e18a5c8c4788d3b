internal import PaymentCore

/// One effect of one payment.
struct EffectPlace: Hashable {
    let payment: PaymentID
    let leg: Int
    let effect: EffectReference
}

extension EffectPlace {
    /// The effect that a request is for.
    init(_ order: SendOrder) { self.init(payment: order.payment, leg: order.leg, effect: order.effect) }
}

/// A key of a caller. Keys of different callers have nothing to do with each other.
struct CallerKey: Sendable, Hashable {
    let caller: CallerID
    let key: IdempotencyKey
}

extension CallerKey {
    /// The key under which an operation is asked.
    init(_ operation: CallerOperation) { self.init(caller: operation.caller, key: operation.key) }
}
