public import PaymentCore
public import Reconciler

/// A witness that is held to the contract, and what may happen to its place.
public protocol WitnessSubject: Sendable {
    /// The witness.
    var witness: any SiteWitness { get }
    /// By how much its clock may be read too early or too late.
    var coarseness: Span { get }

    /// It loses all that it knows.
    func wipe() async throws

    /// Keeps a copy of what it knows, and puts it back when the returned closure is called.
    func copied() async throws -> @Sendable () async throws -> Void

    /// It is reached, and answers nothing while the body runs.
    func whileSilent(_ body: @Sendable () async throws -> Void) async throws

    /// A witness of the same kind at an address where nobody is.
    func elsewhere() async throws -> any SiteWitness
}

extension WitnessSubject {
    /// To the millisecond.
    public var coarseness: Span { .zero }
}
