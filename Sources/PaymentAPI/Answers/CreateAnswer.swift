internal import HTTPEdge
public import PaymentCore
public import Reconciler

/// The answer to the request that created a payment, for whoever keeps it before it is given.
public enum CreateAnswer {
    /// What the caller gets once the payment is settled: the same bytes as from the route.
    public static func settled(_ payment: Payment) -> StoredAnswer { Answer(creating: payment).stored }
}
