package modeltest

import (
	"fmt"
	"io"
	"maps"
)

// response is the whole answer of OpenAI's responses API.
func (a Answer) response(r Request) object {
	return object{
		"id": "resp_" + messageID(r), "object": "response", "created_at": 1700000000, "model": r.Model,
		"status": "completed",
		"output": a.items(r), "usage": object{
			"input_tokens": a.Usage.Input, "input_tokens_details": object{"cached_tokens": a.Usage.Cached},
			"output_tokens": a.Usage.Output, "output_tokens_details": object{"reasoning_tokens": 0},
			"total_tokens": a.Usage.Input + a.Usage.Output,
		},
	}
}

func (a Answer) items(r Request) []object {
	items := []object{}
	if a.Text != "" {
		items = append(items, object{
			"type": "message", "id": messageID(r), "role": "assistant", "status": "completed",
			"content": []object{{"type": "output_text", "text": a.Text, "annotations": []object{}}},
		})
	}
	for i, call := range a.Calls {
		item := object{
			"type": "function_call", "id": "fc_" + callID(r, i), "call_id": callID(r, i), "name": call.Name,
			"status": "completed",
		}
		if call.Freeform {
			item["type"], item["input"] = "custom_tool_call", call.Arguments
		} else {
			item["arguments"] = call.Arguments
		}
		items = append(items, item)
	}
	return items
}

func (a Answer) streamResponse(w io.Writer, r Request) {
	number := 0
	send := func(kind string, fields object) {
		fields["type"], fields["sequence_number"] = kind, number
		number++
		event(w, kind, fields)
	}
	whole := a.response(r)
	begun := object{
		"id": whole["id"], "object": "response", "created_at": whole["created_at"], "model": r.Model,
		"status": "in_progress", "output": []object{},
	}
	send("response.created", object{"response": begun})
	for i, item := range a.items(r) {
		send("response.output_item.added", object{"output_index": i, "item": pending(item)})
		switch item["type"] {
		case "message":
			send("response.output_text.delta",
				object{"item_id": item["id"], "output_index": i, "content_index": 0, "delta": a.Text})
		case "function_call":
			send("response.function_call_arguments.delta",
				object{"item_id": item["id"], "output_index": i, "delta": item["arguments"]})
			send("response.function_call_arguments.done",
				object{"item_id": item["id"], "output_index": i, "arguments": item["arguments"]})
		}
		send("response.output_item.done", object{"output_index": i, "item": item})
	}
	send("response.completed", object{"response": whole})
}

// pending is an item as it is announced, before its content came.
func pending(item object) object {
	begun := maps.Clone(item)
	begun["status"] = "in_progress"
	switch item["type"] {
	case "message":
		begun["content"] = []object{}
	case "function_call":
		begun["arguments"] = ""
	default:
		begun["input"] = ""
	}
	return begun
}

// completion is the whole answer of OpenAI's chat completions.
func (a Answer) completion(r Request) object {
	message := object{"role": "assistant", "content": a.Text}
	if len(a.Calls) > 0 {
		message["tool_calls"] = a.toolCalls(r)
	}
	return object{
		"id": "chatcmpl-" + messageID(r), "object": "chat.completion", "created": 1700000000, "model": r.Model,
		"choices": []object{{"index": 0, "message": message, "finish_reason": a.chatStop()}}, "usage": a.chatUsage(),
	}
}

func (a Answer) toolCalls(r Request) []object {
	calls := []object{}
	for i, call := range a.Calls {
		calls = append(calls, object{
			"index": i, "id": callID(r, i), "type": "function",
			"function": object{"name": call.Name, "arguments": call.Arguments},
		})
	}
	return calls
}

func (a Answer) chatStop() string {
	if len(a.Calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

func (a Answer) chatUsage() object {
	return object{
		"prompt_tokens": a.Usage.Input, "completion_tokens": a.Usage.Output,
		"total_tokens":          a.Usage.Input + a.Usage.Output,
		"prompt_tokens_details": object{"cached_tokens": a.Usage.Cached},
	}
}

func (a Answer) streamCompletion(w io.Writer, r Request) {
	chunk := func(choices []object, usage any) {
		event(w, "", object{
			"id": "chatcmpl-" + messageID(r), "object": "chat.completion.chunk", "created": 1700000000,
			"model":   r.Model,
			"choices": choices, "usage": usage,
		})
	}
	delta := object{"role": "assistant", "content": a.Text}
	if len(a.Calls) > 0 {
		delta["tool_calls"] = a.toolCalls(r)
	}
	chunk([]object{{"index": 0, "delta": delta, "finish_reason": nil}}, nil)
	chunk([]object{{"index": 0, "delta": object{}, "finish_reason": a.chatStop()}}, nil)
	chunk([]object{}, a.chatUsage())
	fmt.Fprint(w, "data: [DONE]\n\n")
}
