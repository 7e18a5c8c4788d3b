internal import HTTPEdge
internal import PaymentCore
internal import StrictJSON

/// The body of `POST /v1/payments`, checked against the published schema and not yet against the providers.
struct CreateBody: Sendable, Hashable {
    var amount: Money
    var legs: [CreateRequest.Leg]
    var capture: CaptureMode
    var reference: String?
    var metadata: [String: String]
    var deadline: Timestamp?
    var returnURL: WebAddress?

    init(_ document: JSONValue, _ cardNumbers: CardNumberFields) throws(Problem) {
        let fields = try ObjectFields(
            document, at: .root,
            allowed: ["amount", "legs", "capture", "reference", "metadata", "deadline", "return_url"])
        amount = try fields.required("amount").positiveMoney(at: FieldPath.root.member("amount"))
        legs = try CreateBody.legs(
            try fields.required("legs"), at: FieldPath.root.member("legs"), cardNumbers[.instrument])
        capture = try CreateBody.capture(fields["capture"])
        reference = try fields["reference"]?.text(at: FieldPath.root.member("reference"), length: 1...128)
        metadata = try CreateBody.metadata(fields["metadata"], at: FieldPath.root.member("metadata"))
        deadline = try CreateBody.instant(fields["deadline"], at: FieldPath.root.member("deadline"))
        returnURL = try CreateBody.address(fields["return_url"], at: FieldPath.root.member("return_url"))
    }

    private static func address(_ value: JSONValue?, at path: FieldPath) throws(Problem) -> WebAddress? {
        guard let value else { return nil }
        guard case .string(let text) = value, let address = WebAddress(text) else {
            throw .malformed(
                path,
                "Must be an https:// address of at most \(WebAddress.longest) characters with a host, in visible ASCII "
                    + "and without user information. http:// is allowed for localhost and 127.0.0.1.")
        }
        return address
    }

    private static func legs(
        _ value: JSONValue, at path: FieldPath, _ rule: CardNumber.Rule
    ) throws(Problem) -> [CreateRequest.Leg] {
        var legs: [CreateRequest.Leg] = []
        for (index, item) in try value.items(at: path, count: 1...CreateRequest.maximumLegs).enumerated() {
            let itemPath = path.item(index)
            let fields = try ObjectFields(item, at: itemPath, allowed: ["provider", "instrument", "amount"])
            legs.append(
                CreateRequest.Leg(
                    provider: try provider(try fields.required("provider"), at: itemPath.member("provider")),
                    instrument: try instrument(
                        try fields.required("instrument"), at: itemPath.member("instrument"), rule),
                    amount: try fields.required("amount").positiveMoney(at: itemPath.member("amount"))))
        }
        return legs
    }

    private static func provider(_ value: JSONValue, at path: FieldPath) throws(Problem) -> ProviderName {
        let text = try value.text(at: path, length: 1...64)
        do {
            return try ProviderName(text)
        } catch {
            throw .malformed(path, "Must be \(error.allowed).")
        }
    }

    private static func instrument(
        _ value: JSONValue, at path: FieldPath, _ rule: CardNumber.Rule
    ) throws(Problem) -> Instrument {
        let text = try value.text(at: path, length: 1...128)
        do {
            return try Instrument(token: text, cardNumbers: rule)
        } catch .cardNumber {
            throw .cardNumber(field: path.text)
        } catch {
            throw .malformed(path, "Must be 1 to 128 visible ASCII characters.")
        }
    }

    private static func capture(_ value: JSONValue?) throws(Problem) -> CaptureMode {
        guard let value else { return .automatic }
        guard case .string(let text) = value, let mode = CaptureMode(rawValue: text) else {
            throw .malformed(FieldPath.root.member("capture"), "Must be automatic or manual.")
        }
        return mode
    }

    private static func metadata(
        _ value: JSONValue?, at path: FieldPath
    ) throws(Problem) -> [String: String] {
        guard let value else { return [:] }
        guard case .object(let members) = value else { throw .malformed(path, "Must be an object.") }
        guard members.count <= 20 else { throw .malformed(path, "Must have at most 20 members.") }
        var metadata: [String: String] = [:]
        for member in members {
            let field = path.member(member.name)
            guard (1...40).contains(member.name.unicodeScalars.count) else {
                throw .malformed(field, "The name must have 1 to 40 characters.")
            }
            metadata[member.name] = try member.value.text(at: field, length: 0...500)
        }
        return metadata
    }

    private static func instant(_ value: JSONValue?, at path: FieldPath) throws(Problem) -> Timestamp? {
        guard let value else { return nil }
        guard case .string(let text) = value, let moment = Timestamp(utc: text) else {
            throw .malformed(path, Timestamp.utcForm)
        }
        return moment
    }
}
