internal import Foundation
internal import HTTPTransport
internal import PaymentCore
internal import Reconciler

extension HTTPResponse {
    /// What time it was where the answer was made (`Date`, RFC 9110, section 6.6.1): somewhere in a whole second.
    ///
    /// - Throws: if the answer does not say. A right that ends by nobody's clock is none.
    func time() throws(StoreFailure) -> ClosedRange<Timestamp> {
        let dates = fields.values(of: "Date")
        guard dates.count == 1, let said = Timestamp(httpDate: dates[0]) else {
            throw StoreFailure(.other, operation: "witness", cause: "its answer does not say what time it is there")
        }
        return said...said + .milliseconds(999)
    }

    /// What the body says.
    func decoded<Value: Decodable>(_ type: Value.Type) throws(StoreFailure) -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(body))
        } catch {
            throw StoreFailure(.other, operation: "witness", cause: "its answer cannot be read")
        }
    }
}

extension WitnessModel {
    /// The document as text.
    func text() throws(StoreFailure) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        do {
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        } catch {
            throw StoreFailure(.other, operation: "witness", cause: "what is to be kept there cannot be written")
        }
    }

    /// Reads a document; that of a witness that nobody has asked yet where there is none.
    init(text: String?) throws(StoreFailure) {
        guard let text else {
            self.init()
            return
        }
        do {
            self = try JSONDecoder().decode(WitnessModel.self, from: Data(text.utf8))
        } catch {
            throw StoreFailure(.corrupted, operation: "witness", cause: "what is kept there cannot be read")
        }
    }
}

extension String {
    /// The content of a file with a token, without the space around it. It is read each time, because a token that was
    /// issued for a time is replaced in place.
    ///
    /// - Parameter setting: What names the file, for whoever has to mend it.
    init(tokenFile: String, _ setting: String) throws(StoreFailure) {
        do {
            self = try String(contentsOfFile: tokenFile, encoding: .utf8)
                .trimmingCharacters(in: .whitespacesAndNewlines)
        } catch {
            throw StoreFailure(
                .unavailable, operation: "witness", cause: "the token file \(tokenFile) (\(setting)) cannot be read")
        }
        guard !isEmpty, utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw StoreFailure(
                .other, operation: "witness",
                cause: "\(tokenFile) (\(setting)) holds no token; allowed: one of visible ASCII")
        }
    }
}

extension HTTPResponse {
    /// A failure that says what was answered.
    ///
    /// - Parameter mayBeDone: Whether what was asked may have been done although the answer says that it failed.
    func failure(_ cause: String, isPassing: Bool = false, mayBeDone: Bool) -> StoreFailure {
        let code: StoreFailure.Code =
            if status >= 500 {
                mayBeDone ? .indeterminate : .unavailable
            } else {
                isPassing || status == 429 ? .unavailable : .other
            }
        return StoreFailure(code, operation: "witness", cause: cause)
    }
}

extension HTTPSender {
    /// Sends one request; whatever stands against an answer is a failure of the witness.
    func ask(_ request: HTTPRequest, by deadline: ContinuousClock.Instant) async throws(StoreFailure) -> HTTPResponse {
        let left = deadline - ContinuousClock.now
        guard left > .zero else {
            throw StoreFailure(.unavailable, operation: "witness", cause: "it did not answer in time")
        }
        var request = request
        request.limits = TimeLimits(connect: left, tls: left, firstByte: left, total: left)
        request.maximumResponseBytes = 1 << 16
        do throws(TransportFailure) {
            return try await send(request)
        } catch {
            let mayBeDone = request.method != .get && !error.provablyNotSent
            throw StoreFailure(
                mayBeDone ? .indeterminate : .unavailable, operation: "witness",
                cause: "no answer: \(error.code.rawValue)")
        }
    }
}
