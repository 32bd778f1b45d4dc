//go:build unix

package mcp

import (
	"encoding/json"
	"fmt"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// mismatched is an answer to a request whose header names a revision with sessions, or none. Where its body is of the revision
// without, the SDK says that the header's revision is not supported, and lists it among those that are: what is wrong is that
// the two do not agree.
type mismatched struct {
	http.ResponseWriter
	said    string // by the header
	refused bool
}

func (w *mismatched) WriteHeader(code int) {
	if w.refused = code == http.StatusBadRequest; w.refused {
		w.Header().Del("Content-Length")
	}
	w.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter. The SDK writes a refusal at once.
func (w *mismatched) Write(b []byte) (int, error) {
	if !w.refused {
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
	header := fmt.Sprintf("the header MCP-Protocol-Version says %s", quoted(w.said))
	if w.said == "" {
		header = "there is no header MCP-Protocol-Version"
	}
	of.Error.Message = fmt.Sprintf("%s, and _meta of the request's body is of revision %s or later: both have to say the same", header, modernVersion)
	said, err := json.Marshal(of)
	if err == nil {
		_, err = w.ResponseWriter.Write(said)
	}
	return len(b), err
}

// Flush implements http.Flusher: events are to go out one by one.
func (w *mismatched) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

// Unwrap is for http.ResponseController.
func (w *mismatched) Unwrap() http.ResponseWriter { return w.ResponseWriter }
