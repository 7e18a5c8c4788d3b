/// What the effect table decides for one effect.
public enum EffectDecision: Sendable, Hashable {
    /// It is done as asked; nothing is sent.
    case done
    /// It will never be there, or is there no more; nothing is sent.
    case gone(GoneCause)
    /// It is lost to the payment, but may yet appear: the payment latches, then undoes it.
    case goneAfterUndo
    /// Nothing can be decided: ask again later.
    case keep
    /// Ask the status.
    case inquire
    /// Wait for the comparison of the two sides' listings.
    case awaitListing
    /// Wait until the caller asks again.
    case awaitCaller
    /// Wait until reads cannot be stale, then ask again.
    case awaitVisibility
    /// Wait until `not_after` of every attempt is past, then ask again.
    case awaitProof
    /// Wait until the longest life of every request is over, then ask again.
    case awaitLife
    /// Wait until the payment's latch is acknowledged by every store that must keep it.
    case awaitAcknowledgement
    /// Wait until no dispute of the charge is open, and ask meanwhile.
    case awaitDispute
    /// Write the intent and send it for the first time.
    case sendFirst
    /// Write the intent and send the same key and body again.
    case sendAgain
    /// Release the hold.
    case void
    /// Give back what was taken.
    case refund
    /// Cancel the key until it is tombstoned or voided.
    case cancel
    /// Send the key again, to be able to void or refund it.
    case plug
    /// No safe row is left: people decide.
    case quarantine(QuarantineCause)
}

/// Why an effect is known never to stand.
public enum GoneCause: String, Sendable, Hashable, Codable, CaseIterable {
    /// The provider says so: declined, voided, tombstoned, expired or refunded.
    case status
    /// Refused as wrong, and nothing else was ever sent.
    case refused
    /// Nothing was ever sent.
    case neverSent = "never_sent"
    /// No request can be executed any more, and none was.
    case neverHappened = "never_happened"
}

/// Why no safe row is left.
public enum QuarantineCause: String, Sendable, Hashable, Codable, CaseIterable {
    /// Key, amount, currency or merchant differ from what was asked.
    case contradiction
    /// The provider accepted it and does not know it.
    case acceptedButMissing = "accepted_but_missing"
    /// It is not found, and the key may have been forgotten.
    case keyTooOld = "key_too_old"
    /// The provider cannot be asked, only received the request, and never told how it ends.
    case unconfirmed
    /// It must be undone, and the provider offers no safe way.
    case undoImpossible = "undo_impossible"
    /// A void or a refund that must be done was refused.
    case undoRefused = "undo_refused"
    /// It was captured by a request whose row was lost, and the caller did not repeat it.
    case captureRequestLost = "capture_request_lost"
    /// A refund that was asked for was declined in a way that may yet change.
    case refundInDoubt = "refund_in_doubt"
}
