internal import PaymentCore
internal import Reconciler

/// A request or an inquiry about a leg that is under way, and whose it is: the end of what another holder sent is no
/// answer to it.
struct Question: Hashable {
    let payment: PaymentID
    let leg: Int
    let replica: Int
    let token: LeaseToken
}
