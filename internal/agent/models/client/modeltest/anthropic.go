package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
)

// message is Anthropic's whole answer.
func (a Answer) message(r Request) object {
	content := []object{}
	if a.Text != "" {
		content = append(content, object{"type": "text", "text": a.Text})
	}
	for i, call := range a.Calls {
		content = append(content, object{
			"type": "tool_use", "id": callID(r, i), "name": call.Name,
			"input": rawObject(call.Arguments),
		})
	}
	return object{
		"id": messageID(r), "type": "message", "role": "assistant", "model": r.Model, "content": content,
		"stop_reason": a.anthropicStop(), "stop_sequence": nil, "usage": a.anthropicUsage(),
	}
}

func (a Answer) anthropicUsage() object {
	return object{
		"input_tokens": a.Usage.Input - a.Usage.Cached, "cache_read_input_tokens": a.Usage.Cached,
		"cache_creation_input_tokens": 0, "output_tokens": a.Usage.Output,
	}
}

func (a Answer) anthropicStop() string {
	if len(a.Calls) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

func (a Answer) streamMessage(w io.Writer, r Request) {
	begun := a.message(r)
	begun["content"], begun["stop_reason"] = []object{}, nil
	event(w, "message_start", object{"type": "message_start", "message": begun})
	index := 0
	block := func(start, delta object) {
		event(w, "content_block_start", object{"type": "content_block_start", "index": index, "content_block": start})
		event(w, "content_block_delta", object{"type": "content_block_delta", "index": index, "delta": delta})
		event(w, "content_block_stop", object{"type": "content_block_stop", "index": index})
		index++
	}
	if a.Text != "" {
		block(object{"type": "text", "text": ""}, object{"type": "text_delta", "text": a.Text})
	}
	for i, call := range a.Calls {
		block(object{"type": "tool_use", "id": callID(r, i), "name": call.Name, "input": object{}},
			object{"type": "input_json_delta", "partial_json": call.Arguments})
	}
	event(w, "message_delta", object{
		"type": "message_delta", "delta": object{"stop_reason": a.anthropicStop(), "stop_sequence": nil},
		"usage": a.anthropicUsage(),
	})
	event(w, "message_stop", object{"type": "message_stop"})
}

func messageID(r Request) string { return fmt.Sprintf("msg_test%04d", r.Number) }

func callID(r Request, i int) string { return fmt.Sprintf("call_test%04d%02d", r.Number, i) }

// rawObject is arguments as JSON, or as a string when they are not JSON.
func rawObject(arguments string) any {
	if json.Valid([]byte(arguments)) {
		return json.RawMessage(arguments)
	}
	return arguments
}
