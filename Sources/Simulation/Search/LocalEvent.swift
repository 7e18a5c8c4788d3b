internal import PaymentCore

/// What can happen to one payment's row and its holder. Its number is the key under which a transition is remembered.
enum LocalEvent: Hashable, Sendable {
    /// The holder looks at what is due.
    case wakes
    /// Another worker takes it over.
    case takenOver
    /// The caller cancels, through the holder.
    case cancels
    /// The caller cancels, through a process that does not hold the payment.
    case cancelsBeside
    /// The caller captures.
    case captures
    /// The caller asks for a refund.
    case refunds(Int)
    /// The present latch is acknowledged.
    case acknowledged
    /// Requests, reads and proofs grow old.
    case lifePasses
    /// Keys and statuses are forgotten.
    case retentionPasses
    /// The deadline passes.
    case deadlinePasses
    /// The holds of a resting payment run out.
    case holdsEnd
    /// An attempt on a leg ends without the transaction.
    case ends(leg: Int, OutcomeClass, credentials: Bool)
    /// An attempt ends with the transaction.
    case answered(leg: Int, OutcomeClass, ProviderLeg)
    /// A status is read.
    case reads(leg: Int, ProviderLeg)
    /// A read begins, and what it will show is fixed.
    case readBegins(leg: Int, ProviderLeg)
    /// Its answer comes.
    case readEnds(leg: Int)
    /// A status cannot be read.
    case readFails(leg: Int)
    /// The provider shows another amount.
    case contradicts(leg: Int)
    /// An attempt is answered by a refusal that names no key.
    case strays(leg: Int)
    /// A comparison wants the leg to be settled.
    case compared(leg: Int)
    /// A single read shows a decline, whatever is there.
    case errs(leg: Int)
    /// A provider tells by itself what became of an effect.
    case told(leg: Int, ProviderLeg.Slot, isDone: Bool)
    /// A provider tells that an effect of another payment was done, or this one with another amount.
    case toldAstray(leg: Int, ProviderLeg.Slot, ofAnother: Bool)
    /// Two people decide what becomes of something in quarantine.
    case repaired(Repair.Target, Repair.Action)

    /// A number of 24 bits, different for different events.
    var code: UInt64 {
        switch self {
        case .wakes: 0
        case .takenOver: 1
        case .cancels: 2
        case .cancelsBeside: 3
        case .captures: 4
        case .refunds(let refundIndex): 5 + UInt64(refundIndex)
        case .acknowledged: 7
        case .lifePasses: 8
        case .retentionPasses: 9
        case .deadlinePasses: 10
        case .holdsEnd: 11
        case .ends(let leg, let outcome, let credentials):
            16 + UInt64(leg) + UInt64(outcome.rawValue) * 4 + (credentials ? 2 : 0)
        case .readEnds(let leg): 64 + UInt64(leg)
        case .readFails(let leg): 66 + UInt64(leg)
        case .contradicts(let leg): 68 + UInt64(leg)
        case .strays(let leg): 70 + UInt64(leg)
        case .compared(let leg): 72 + UInt64(leg)
        case .errs(let leg): 74 + UInt64(leg)
        case .repaired(.leg(let leg), let action): 80 + UInt64(leg) * 8 + LocalEvent.number(of: action)
        case .repaired(.refund(let refundIndex, _), let action):
            96 + UInt64(refundIndex) * 8 + LocalEvent.number(of: action)
        case .repaired(.discrepancy, let action): 112 + LocalEvent.number(of: action)
        case .told(let leg, let slot, let isDone):
            128 + UInt64(leg) * 16 + UInt64(slot.rawValue) * 2 + (isDone ? 1 : 0)
        case .toldAstray(let leg, let slot, let ofAnother):
            160 + UInt64(leg) * 16 + UInt64(slot.rawValue) * 2 + (ofAnother ? 1 : 0)
        case .answered(let leg, let outcome, let view):
            1 << 20 | UInt64(leg) << 19 | UInt64(outcome.rawValue) << 16 | UInt64(view.bits)
        case .reads(let leg, let view): 2 << 20 | UInt64(leg) << 19 | UInt64(view.bits)
        case .readBegins(let leg, let view): 3 << 20 | UInt64(leg) << 19 | UInt64(view.bits)
        }
    }

    private static func number(of action: Repair.Action) -> UInt64 {
        UInt64(Repair.Action.allCases.firstIndex(of: action) ?? 0)
    }
}
