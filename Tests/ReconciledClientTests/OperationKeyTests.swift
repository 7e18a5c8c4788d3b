import ReconciledClient
import Testing

@Suite struct OperationKeyTests {
    @Test func `keys are derived from the order, the same each time`() throws {
        #expect(try OperationKey.create(order: "order-731").text == "order-731/create")
        #expect(try OperationKey.create(order: "order-731", attempt: 2).text == "order-731/create-2")
        #expect(try OperationKey.capture(order: "order-731").text == "order-731/capture")
        #expect(try OperationKey.cancel(order: "order-731", attempt: 3).text == "order-731/cancel-3")
        #expect(try OperationKey.refund(order: "order-731", number: 1).text == "order-731/refund-1")
    }

    @Test(arguments: ["", "order 731", "zahlung-ä", "line\nbreak", String(repeating: "a", count: 256)])
    func `what the daemon would refuse is no key`(_ text: String) {
        #expect(throws: ClientError.invalidKey(text)) { try OperationKey(text) }
    }
}
