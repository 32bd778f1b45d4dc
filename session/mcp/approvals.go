//go:build unix

package mcp

import (
	"context"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func (s *Server) approvals(ctx context.Context, _ json.RawMessage) (*sdk.CallToolResult, error) {
	return reply("nothing waits for approval", map[string]any{"approvals": []any{}}), nil
}
