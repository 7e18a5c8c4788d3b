internal import Foundation
public import HTTPTransport
internal import PaymentCore
public import Reconciler

/// A Lease of a Kubernetes cluster in a third place (`coordination.k8s.io/v1`).
///
/// What counts is one annotation; the fields of `spec` say the same to people and their tools. It is changed by a merge
/// patch that names the `resourceVersion` which was read: the API server refuses it with 409 where that is another one
/// by now. The Lease is made by whoever installs it, and never here: one that is gone proves nothing.
///
/// Source: Kubernetes API concepts, "Resource versions" and "Updates to existing resources".
public struct KubernetesLease: WitnessItem {
    /// Under this name the annotation is kept.
    public static let annotation = "reconciled.io/witness"

    /// Which Lease it is, and how it is reached.
    public struct Place: Sendable, Hashable {
        /// The API server's address, without a slash at the end.
        public var url: String
        /// The Lease's namespace.
        public var namespace: String
        /// The Lease's name.
        public var name: String
        /// A file with the token of a service account that may get and patch it. It is read for each request, because a
        /// token that was issued for a time is replaced in place.
        public var tokenFile: String

        /// A place.
        public init(url: String, namespace: String, name: String, tokenFile: String) {
            self.url = url
            self.namespace = namespace
            self.name = name
            self.tokenFile = tokenFile
        }
    }

    private struct Document: Decodable {
        struct Metadata: Decodable {
            let resourceVersion: String
            let annotations: [String: String]?
        }

        let metadata: Metadata
    }

    private struct Patch: Encodable {
        struct Metadata: Encodable {
            let resourceVersion: String
            let annotations: [String: String]
        }

        struct Spec: Encodable {
            let holderIdentity: String?
            let leaseDurationSeconds: Int
            let leaseTransitions: Int
            let renewTime: String

            enum CodingKeys: String, CodingKey {
                case holderIdentity, leaseDurationSeconds, leaseTransitions, renewTime
            }

            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                // A missing field is left as it is by a merge patch; null takes it out.
                try container.encode(holderIdentity, forKey: .holderIdentity)
                try container.encode(leaseDurationSeconds, forKey: .leaseDurationSeconds)
                try container.encode(leaseTransitions, forKey: .leaseTransitions)
                try container.encode(renewTime, forKey: .renewTime)
            }
        }

        let metadata: Metadata
        let spec: Spec?
    }

    private let place: Place
    private let sender: any HTTPSender

    /// A Lease.
    public init(_ place: Place, sender: any HTTPSender) {
        self.place = place
        self.sender = sender
    }

    private var url: String {
        "\(place.url)/apis/coordination.k8s.io/v1/namespaces/\(place.namespace)/leases/\(place.name)"
    }

    /// What is there, by the API server's own newest version.
    public func read(by deadline: ContinuousClock.Instant) async throws(StoreFailure) -> WitnessReading {
        let request = HTTPRequest(method: .get, url: url, fields: try fields(), label: "witness")
        let response = try await sender.ask(request, by: deadline)
        switch response.status {
        case 200:
            let metadata = try response.decoded(Document.self).metadata
            return WitnessReading(
                model: try WitnessModel(text: metadata.annotations?[KubernetesLease.annotation]),
                revision: metadata.resourceVersion, time: try response.time())
        case 404: return WitnessReading(model: WitnessModel(), revision: nil, time: try response.time())
        default: throw refusal(response, mayBeDone: false)
        }
    }

    /// Puts a document in the place of what was read.
    public func replace(
        _ reading: WitnessReading, with model: WitnessModel, by deadline: ContinuousClock.Instant
    ) async throws(StoreFailure) -> Bool {
        guard let revision = reading.revision else {
            throw StoreFailure(
                .incompatible, operation: "witness",
                cause:
                    "there is no Lease \(place.namespace)/\(place.name): apply its manifest in the third cluster first")
        }
        let patch = Patch(
            metadata: Patch.Metadata(
                resourceVersion: revision, annotations: [KubernetesLease.annotation: try model.text()]),
            spec: KubernetesLease.spec(model, at: reading.time.lowerBound))
        var request = HTTPRequest(method: .patch, url: url, fields: try fields(), label: "witness")
        request.fields["Content-Type"] = "application/merge-patch+json"
        do {
            request.body = Array(try JSONEncoder().encode(patch))
        } catch {
            throw StoreFailure(.other, operation: "witness", cause: "what is to be kept there cannot be written")
        }
        let response = try await sender.ask(request, by: deadline)
        switch response.status {
        case 200: return true
        case 409: return false
        default: throw refusal(response, mayBeDone: true)
        }
    }

    /// The same in the fields that people and their tools know. A right that was given back has no holder.
    private static func spec(_ model: WitnessModel, at now: Timestamp) -> Patch.Spec? {
        guard let right = model.look(skew: .zero, at: now).right else { return nil }
        let isHeld = right.left > .zero
        let seconds = isHeld ? (right.left.milliseconds + 999) / 1_000 : 1
        return Patch.Spec(
            holderIdentity: isHeld ? right.site.name : nil, leaseDurationSeconds: Int(min(seconds, 86_400)),
            leaseTransitions: Int(min(right.epoch, Int64(Int32.max))),
            // Kubernetes takes six digits of a second, and no others.
            renewTime: String(now.rfc3339.dropLast()) + "000Z")
    }

    private func fields() throws(StoreFailure) -> HTTPFields {
        let token = try String(tokenFile: place.tokenFile, "site.witness.token_file")
        return HTTPFields([("Accept", "application/json"), ("Authorization", "Bearer \(token)")])
    }

    private func refusal(_ response: HTTPResponse, mayBeDone: Bool) -> StoreFailure {
        let cause =
            switch response.status {
            case 401: "it does not know the token (401)"
            case 403: "the token may not get and patch the Lease \(place.namespace)/\(place.name) (403)"
            case 404: "the Lease \(place.namespace)/\(place.name) is gone (404)"
            default: "it answers \(response.status)"
            }
        return response.failure(cause, mayBeDone: mayBeDone)
    }
}
