//go:build unix

package mcp

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// lastBatches is the last revision of the protocol with batches.
const lastBatches = "2025-03-26"

// message says why valid JSON is no message, and which id an answer to it has.
func (l *lines) message(line []byte) (id, why string) {
	if line = bytes.TrimSpace(line); line[0] != '[' {
		return l.single(line)
	}
	var all []json.RawMessage
	if !l.batch || json.Unmarshal(line, &all) != nil || len(all) == 0 {
		return "null", "the line is no message; a message is a JSON object in a line of its own"
	}
	seen := map[string]bool{}
	for _, one := range all {
		if id, why = l.single(one); why != "" {
			return "null", why
		}
		if id != "null" && seen[id] {
			return "null", "two messages of the batch have the id " + id
		}
		seen[id] = true
	}
	return "null", ""
}

// single is message for one that is in no batch.
func (l *lines) single(one []byte) (id, why string) {
	id, why = idOf(one)
	if why != "" {
		return "null", why
	}
	m, err := jsonrpc.DecodeMessage(one)
	if err != nil {
		return id, "the line is no message: " + strings.TrimPrefix(err.Error(), "unmarshaling jsonrpc message: ")
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.Method == "initialize" {
		var p struct{ ProtocolVersion string }
		_ = json.Unmarshal(r.Params, &p) // who answers it says what is wrong
		l.batch = p.ProtocolVersion != "" && p.ProtocolVersion <= lastBatches
	}
	return id, ""
}

// idOf is the id of a message as it stands there. The protocol has strings and integers; of another number the answer would
// have another id.
func idOf(message []byte) (id, why string) {
	var of struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(message, &of) != nil {
		return "null", "the line is no message; a message is a JSON object in a line of its own"
	}
	switch id = string(of.ID); {
	case id == "" || id == "null":
		return "null", ""
	case id[0] == '"':
		return id, ""
	}
	if n, err := strconv.ParseInt(id, 10, 64); err != nil || n > maxInteger || n < -maxInteger {
		return "null", "the id of a message is a string or an integer of at most 53 bits"
	}
	return id, ""
}

// maxInteger is the largest integer that every reader of JSON has as it was written.
const maxInteger = 1 << 53
