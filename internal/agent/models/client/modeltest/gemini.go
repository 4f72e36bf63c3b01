package modeltest

// generated is Gemini's answer; streamed, it is one event.
func (a Answer) generated(r Request) object {
	parts := []object{}
	if a.Text != "" {
		parts = append(parts, object{"text": a.Text})
	}
	for _, call := range a.Calls {
		parts = append(parts, object{"functionCall": object{"name": call.Name, "args": rawObject(call.Arguments)}})
	}
	return object{
		"candidates": []object{{
			"index": 0, "content": object{"role": "model", "parts": parts},
			"finishReason": "STOP",
		}},
		"usageMetadata": object{
			"promptTokenCount": a.Usage.Input, "candidatesTokenCount": a.Usage.Output,
			"cachedContentTokenCount": a.Usage.Cached,
			"totalTokenCount":         a.Usage.Input + a.Usage.Output,
		},
		"modelVersion": r.Model, "responseId": messageID(r),
	}
}
