//go:build unix

package mcp

import (
	"encoding/json"
	"fmt"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// mismatchWriter corrects the response to a request whose header names a revision with sessions, or none, while its body
// is of the revision without. The SDK reports the header's revision as unsupported and also lists it as supported; the
// real problem is the mismatch.
type mismatchWriter struct {
	http.ResponseWriter
	headerRevision string // revision named in the header
	isRejection    bool   // the SDK rejects the request
}

// WriteHeader implements http.ResponseWriter.
func (w *mismatchWriter) WriteHeader(code int) {
	if w.isRejection = code == http.StatusBadRequest; w.isRejection {
		w.Header().Del("Content-Length")
	}
	w.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter. The SDK writes a rejection in one call.
func (w *mismatchWriter) Write(b []byte) (int, error) {
	if !w.isRejection {
		return w.ResponseWriter.Write(b)
	}
	var of struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(b, &of) != nil || of.Error.Code != sdk.CodeUnsupportedProtocolVersion {
		return w.ResponseWriter.Write(b)
	}
	of.Error.Code = sdk.CodeHeaderMismatch
	header := fmt.Sprintf("header MCP-Protocol-Version is %s", quoteName(w.headerRevision))
	if w.headerRevision == "" {
		header = "header MCP-Protocol-Version is missing"
	}
	of.Error.Message = fmt.Sprintf("%s, but _meta of the request body has revision %s or later: they must match", header, modernVersion)
	said, err := json.Marshal(of)
	if err == nil {
		_, err = w.ResponseWriter.Write(said)
	}
	return len(b), err
}

// Flush implements http.Flusher: events must be sent one by one.
func (w *mismatchWriter) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

// Unwrap supports http.ResponseController.
func (w *mismatchWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
