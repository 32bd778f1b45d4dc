//go:build unix

package mcp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// lastBatches is the last revision of the protocol with batches.
const lastBatches = "2025-03-26"

// checkMessage returns why valid JSON is not a message, and the id for the error response.
func (l *lineFilter) checkMessage(line []byte) (id, why string) {
	if line = bytes.TrimSpace(line); line[0] != '[' {
		return l.checkSingle(line)
	}
	var all []json.RawMessage
	if !l.allowsBatches || json.Unmarshal(line, &all) != nil || len(all) == 0 {
		return "null", "not a message: send one JSON object per line"
	}
	seen := map[string]bool{}
	for _, one := range all {
		if id, why = l.checkSingle(one); why != "" {
			return "null", why
		}
		if id != "null" && seen[id] {
			return "null", "two messages of the batch have the id " + id
		}
		seen[id] = true
	}
	return "null", ""
}

// checkSingle works like checkMessage for a message outside of a batch.
func (l *lineFilter) checkSingle(one []byte) (id, why string) {
	id, why = idOf(one)
	if why != "" {
		return "null", why
	}
	m, err := jsonrpc.DecodeMessage(one)
	if err != nil {
		return id, "not a message: " + strings.TrimPrefix(err.Error(), "unmarshaling jsonrpc message: ")
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.Method == "initialize" {
		var p struct{ ProtocolVersion string }
		_ = json.Unmarshal(r.Params, &p) // their handler reports errors
		l.allowsBatches = p.ProtocolVersion != "" && p.ProtocolVersion <= lastBatches
	}
	return id, ""
}

// idOf returns the id of a message as written. The protocol allows strings and integers; another number would change in
// the response.
func idOf(message []byte) (id, why string) {
	var of struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(message, &of) != nil {
		return "null", "not a message: send one JSON object per line"
	}
	switch id = string(of.ID); {
	case id == "" || id == "null":
		return "null", ""
	case id[0] == '"':
		return id, ""
	}
	if n, err := strconv.ParseInt(id, 10, 64); err != nil || n > maxInteger || n < -maxInteger {
		return "null", badID
	}
	return id, ""
}

// badID is the error for an invalid id.
const badID = "the id of a message is a string or an integer of at most 53 bits"

// checkIDs rejects requests whose id would change in the response, and decodes names in headers. The SDK reports all
// other errors.
func checkIDs(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			h.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		var large *http.MaxBytesError
		switch {
		case errors.As(err, &large):
			writeTooLarge(w)
			return
		case err != nil:
			http.Error(w, "the request was not read to its end", http.StatusBadRequest)
			return
		}
		all := []json.RawMessage{body}
		if start := bytes.TrimLeft(body, " \t\r\n"); len(start) > 0 && start[0] == '[' {
			_ = json.Unmarshal(body, &all) // it is rejected otherwise
		}
		for _, one := range all {
			if _, why := idOf(one); why == badID {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusBadRequest)
				said, _ := json.Marshal(why) // a text
				_, _ = fmt.Fprintf(w, answerWithError, "null", jsonrpc.CodeInvalidRequest, said)
				return
			}
		}
		if name, ok := plainName(r.Header.Get("Mcp-Name")); ok {
			r.Header.Set("Mcp-Name", name)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		h.ServeHTTP(w, r)
	})
}

// plainName decodes a Base64 name in a header, as non-ASCII names must be sent (2026-07-28, SEP-2243).
func plainName(header string) (name string, ok bool) {
	text, ok := strings.CutPrefix(header, "=?base64?")
	if !ok {
		return "", false
	}
	if text, ok = strings.CutSuffix(text, "?="); !ok {
		return "", false
	}
	b, err := base64.StdEncoding.DecodeString(text)
	return string(b), err == nil
}

// answerWithError is an answer with an id, a code and a message in JSON.
const answerWithError = `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}` + "\n"

// maxInteger is the largest integer that every JSON reader represents exactly.
const maxInteger = 1 << 53
