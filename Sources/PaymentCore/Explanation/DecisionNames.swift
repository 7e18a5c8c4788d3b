extension EffectDecision {
    /// What it is called in documents.
    public var name: String {
        switch self {
        case .done: "done"
        case .gone: "gone"
        case .goneAfterUndo: "gone_after_undo"
        case .keep: "keep"
        case .inquire: "inquire"
        case .awaitListing: "await_listing"
        case .awaitCaller: "await_caller"
        case .awaitVisibility: "await_visibility"
        case .awaitProof: "await_proof"
        case .awaitLife: "await_life"
        case .awaitAcknowledgement: "await_acknowledgement"
        case .awaitDispute: "await_dispute"
        case .sendFirst: "send_first"
        case .sendAgain: "send_again"
        case .void: "void"
        case .refund: "refund"
        case .cancel: "cancel"
        case .plug: "plug"
        case .quarantine: "quarantine"
        }
    }
}

extension PaymentDecision {
    /// What it is called in documents.
    public var name: String {
        switch self {
        case .latch: "move_latch"
        case .readAll: "read_all"
        case .authorize: "authorize"
        case .sell: "sell"
        case .capture: "capture"
        case .undo: "undo"
        case .rest: "rest"
        case .adoptCapture: "adopt_capture"
        case .awaitCapture: "await_capture"
        case .leaveToPeople: "leave_to_people"
        case .missing: "missing"
        case .conclude: "conclude"
        case .wait: "wait"
        }
    }
}
