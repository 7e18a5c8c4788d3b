internal import Foundation
internal import HTTPTransport
internal import PaymentCore

/// `GET /transactions/{key}`: the status.
struct GetTransaction: ProviderRequest {
    typealias Response = ProviderAnswer
    typealias ReadingFailure = Never
    static let label = "get_transaction"

    let transactionKey: String

    var method: HTTPMethod { .get }
    var path: [String] { ["transactions", transactionKey] }

    func decode(_ response: HTTPResponse) -> ProviderAnswer { ProviderAnswer(response) }
}
