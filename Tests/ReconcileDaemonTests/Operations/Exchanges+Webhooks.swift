import MemoryStore
import Reconciler

extension Exchanges {
    static func webhooks(_ paths: Paths) -> [Step] {
        let (all, one) = ("/v1/webhooks", "/v1/webhooks/{id}")
        let (together, alone) = ("\(all)/redeliver", "\(one)/redeliver")
        let (target, never) = ("\(all)/\(paths.payment)", "\(all)/pay_\(unknown)")
        let shop = #"{"caller":"shop"}"#
        func inactive(_ step: Step) -> Step {
            var step = step
            step.fault = (.inactive, .redeliverWebhook)
            return step
        }
        let begun =
            usual("GET", all, all, .webhooks) + usual("GET", one, target, .webhook)
            + usual("POST", alone, "\(target)/redeliver", .redeliverWebhook)
            + usual("POST", together, together, body: shop, .redeliverWebhook) + refused(together, together)
        return begun + [
            step(200, "GET", all), step(200, "GET", all, "\(all)?caller=shop&state=waiting&limit=1"),
            step(400, "GET", all, "\(all)?state=half"), step(422, "GET", all, "\(all)?caller=\(card)"),
            step(200, "GET", one, target), step(400, "GET", one, "\(all)/x"), step(404, "GET", one, never),
            inactive(step(409, "POST", alone, "\(target)/redeliver")),
            step(400, "POST", alone, "\(target)/redeliver", body: shop),
            step(404, "POST", alone, "\(never)/redeliver"), step(202, "POST", alone, "\(target)/redeliver"),
            inactive(step(409, "POST", together, body: shop)), step(400, "POST", together, body: "{}"),
            step(202, "POST", together, body: shop), step(202, "POST", together, body: #"{"caller":"unheard"}"#),
        ]
    }
}
