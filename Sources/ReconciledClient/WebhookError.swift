public import Foundation

/// Why something is no webhook of the daemon, or why nothing can be verified. None has a secret in it.
public enum WebhookError: Error, Sendable, Hashable {
    /// This header is not there.
    case missingHeader(String)
    /// This header is longer than it may be, or has another form.
    case malformedHeader(String)
    /// It was sent longer ago than the tolerance allows. Somebody may have recorded it.
    case tooOld
    /// It was sent later than the clock of this machine and the tolerance allow.
    case fromTheFuture
    /// No signature of it is right under a secret that the verifier has.
    case wrongSignature
    /// The daemon signed it, and it is no webhook that this library can read. Says why.
    case unreadable(String)
    /// A secret is none, or there is no secret. Says why.
    case invalidSecret(String)
    /// A tolerance has 0 or more seconds.
    case invalidTolerance(TimeInterval)
}

extension WebhookError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .missingHeader(let name): "the header \(name) is missing; it has \(WebhookError.form(of: name))"
        case .malformedHeader(let name): "the header \(name) is malformed; it has \(WebhookError.form(of: name))"
        case .tooOld:
            "it was sent longer ago than the tolerance allows. Either it is repeated, or the clock of this machine is "
                + "fast; allowed are 300 seconds unless the verifier was given another tolerance"
        case .fromTheFuture:
            "it was sent later than now and the tolerance. Either the clock of this machine is slow, or the sender's "
                + "is fast; allowed are 300 seconds unless the verifier was given another tolerance"
        case .wrongSignature:
            "no signature is right. Either it is not from the daemon, the secret is another one, or the body is not "
                + "what came, byte for byte; allowed is a signature v1 under one of the verifier's secrets"
        case .unreadable(let why):
            "it is signed, and cannot be read: \(why); allowed is a JSON object with a text \"type\" and a payment as "
                + "\"data\""
        case .invalidSecret(let why):
            "the secrets cannot be used: \(why); allowed are one or more, each whsec_ and the base64 of 24 to 64 "
                + "bytes, with its padding, and with no space or line break"
        case .invalidTolerance(let seconds): "a tolerance of \(seconds) seconds is none; allowed are 0 or more"
        }
    }

    private static func form(of name: String) -> String {
        switch name {
        case "webhook-id": "1 to 256 visible ASCII characters, with no space and no full stop"
        case "webhook-timestamp": "whole seconds since 1970, as 1 to 12 digits"
        default:
            "signatures with a space between them, each v1, a comma and the base64 of 32 bytes: up to 16 of v1, and "
                + "up to 4096 bytes in all"
        }
    }
}
