//go:build unix && conformance

package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The official conformance suite calls tools, prompts and resources with its own names. Here they are mounted behind the
// HTTP server (mux of eras, token, Host and Origin) and the middleware of tasks, with sealed request states. `.ci/run mcp`
// installs the suite and runs this.

const fixtureToken = "a token of the suite's own"

// fixtureServer returns a server with everything that the suite calls.
func fixtureServer(t *testing.T) *sdk.Server {
	seal, err := newSealer(nil)
	if err != nil {
		t.Fatal(err)
	}
	caps := &sdk.ServerCapabilities{Logging: &sdk.LoggingCapabilities{}}
	caps.AddExtension(tasksExtension, map[string]any{})
	server := sdk.NewServer(&sdk.Implementation{Name: "fixtures", Version: "1"}, &sdk.ServerOptions{
		Capabilities: caps, SetCacheable: setCacheTTL,
		CompletionHandler: func(context.Context, *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
			return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}, nil
		},
		SubscribeHandler:   func(context.Context, *sdk.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
	})
	addContentTools(server)
	addAskingTools(server)
	addInputTools(server, seal)
	addFixtureResources(server)
	addFixturePrompts(server)
	f := newFixtureTasks()
	f.addTools(server)
	if err := (Tasks{Get: f.get, Update: f.update, Cancel: f.cancel}).Mount(server); err != nil {
		t.Fatal(err)
	}
	server.AddReceivingMiddleware(TaskMiddleware)
	return server
}

// doorOf serves a server over HTTP. The suite sends no token, so one is added to its requests.
func doorOf(t *testing.T, server *sdk.Server) string {
	door := &HTTPServer{
		Tokens: []Token{{Secret: fixtureToken, Name: "suite", Level: All}},
		Server: func(Level) *sdk.Server { return server },
	}
	guarded := door.Handler()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+strings.ReplaceAll(fixtureToken, " ", "-"))
		guarded.ServeHTTP(w, r)
	}))
	door.Tokens[0].Secret = strings.ReplaceAll(fixtureToken, " ", "-")
	t.Cleanup(s.Close)
	return s.URL + "/mcp"
}

// program returns a program of the suite's installation, in the directory of MCP_NODE.
func program(t *testing.T, name string) string {
	dir := os.Getenv("MCP_NODE")
	if dir == "" {
		t.Fatal("MCP_NODE is to name the directory where npm installed the suite; .ci/run mcp does so")
	}
	return filepath.Join(dir, "node_modules", ".bin", name)
}

// nodeCommand returns a command that runs a program of the suite's installation.
func nodeCommand(t *testing.T, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(t.Context(), program(t, name), args...)
	c.Dir = t.TempDir()
	c.Env = append(os.Environ(), "PATH="+filepath.Dir(program(t, "node"))+":"+os.Getenv("PATH"))
	return c
}

// FEATURES: R85
func TestConformance(t *testing.T) {
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(revision, func(t *testing.T) {
			results := t.TempDir()
			if dir := os.Getenv("MCP_RESULTS"); dir != "" {
				results = filepath.Join(dir, revision)
			}
			out, err := nodeCommand(t, "conformance", "server", "--url", doorOf(t, fixtureServer(t)), "--requirements", revision, "-o", results).CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, tail(out, 6000))
			}
			// The extension's scenarios do not count for the suite; they do here.
			tasks := map[string]bool{}
			for line := range strings.Lines(string(out)) {
				mark, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
				if name, passed, ok := strings.Cut(rest, ": "); ok && strings.HasPrefix(name, "tasks-") && strings.HasSuffix(passed, " failed") {
					tasks[name] = mark == "✓"
				}
			}
			for name, passed := range tasks {
				if !passed {
					t.Errorf("%s failed", name)
				}
			}
			if want := map[string]int{"2026-07-28": 10}[revision]; len(tasks) != want {
				t.Errorf("%d scenarios of tasks were run, not %d", len(tasks), want)
			}
			t.Logf("%s", tail(out, 4000))
		})
	}
}

// tail returns the last n bytes.
func tail(b []byte, n int) []byte { return b[max(0, len(b)-n):] }

type none struct{}

// fixed adds a tool with a constant result.
func fixed(server *sdk.Server, name string, contents ...sdk.Content) {
	sdk.AddTool(server, &sdk.Tool{Name: name, Description: "always the same"}, func(context.Context, *sdk.CallToolRequest, none) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: contents}, nil, nil
	})
}

// textOf returns a text as content.
func textOf(format string, args ...any) *sdk.TextContent {
	return &sdk.TextContent{Text: fmt.Sprintf(format, args...)}
}

// said returns a result with a text.
func said(format string, args ...any) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{textOf(format, args...)}}
}

// onePixel is a PNG file, quiet a WAV file.
var (
	onePixel = func() []byte {
		var b bytes.Buffer
		b.WriteString("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89")
		b.WriteString("\x00\x00\x00\rIDATx\x9cc\xf8\xff\xff?\x00\x05\xfe\x02\xfe\xa75\x81\x84\x00\x00\x00\x00IEND\xaeB`\x82")
		return b.Bytes()
	}()
	quiet = []byte("RIFF&\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00@\x1f\x00\x00\x80>\x00\x00\x02\x00\x10\x00data\x02\x00\x00\x00\x00\x00")
)

// addContentTools adds the tools that return each kind of content.
func addContentTools(server *sdk.Server) {
	picture := &sdk.ImageContent{Data: onePixel, MIMEType: "image/png"}
	embedded := func(uri string) *sdk.EmbeddedResource {
		return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "embedded"}}
	}
	fixed(server, "test_simple_text", textOf("This is a simple text response for testing."))
	fixed(server, "test_image_content", picture)
	fixed(server, "test_audio_content", &sdk.AudioContent{Data: quiet, MIMEType: "audio/wav"})
	fixed(server, "test_embedded_resource", embedded("test://embedded-resource"))
	fixed(server, "test_multiple_content_types", textOf("text"), picture, embedded("test://mixed"))
	fixed(server, "test_streaming_elicitation", textOf("nothing is asked"))
	sdk.AddTool(server, &sdk.Tool{Name: "test_error_handling", Description: "of the suite"}, func(context.Context, *sdk.CallToolRequest, none) (*sdk.CallToolResult, any, error) {
		return nil, nil, errors.New("this tool intentionally returns an error for testing")
	})
	sdk.AddTool(server, &sdk.Tool{Name: "test_tool_with_progress", Description: "of the suite"}, func(ctx context.Context, req *sdk.CallToolRequest, _ none) (*sdk.CallToolResult, any, error) {
		token := req.Params.GetProgressToken()
		for _, p := range []float64{0, 50, 100} {
			if err := req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: p, Total: 100}); err != nil {
				return nil, nil, err
			}
		}
		return said("%v", token), nil, nil
	})
	logs := func(ctx context.Context, req *sdk.CallToolRequest, _ none) (*sdk.CallToolResult, any, error) {
		for i := range 3 {
			if err := req.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: fmt.Sprint("step ", i)}); err != nil {
				return nil, nil, err
			}
		}
		return said("logged"), nil, nil
	}
	sdk.AddTool(server, &sdk.Tool{Name: "test_tool_with_logging", Description: "of the suite"}, logs)
	sdk.AddTool(server, &sdk.Tool{Name: "test_logging_tool", Description: "of the suite"}, logs)
	sdk.AddTool(server, &sdk.Tool{Name: "test_trigger_tool_change", Description: "of the suite"}, func(context.Context, *sdk.CallToolRequest, none) (*sdk.CallToolResult, any, error) {
		fixed(server, "zz_comes_and_goes", textOf("here"))
		return said("changed"), nil, nil
	})
	sdk.AddTool(server, &sdk.Tool{Name: "test_trigger_prompt_change", Description: "of the suite"}, func(context.Context, *sdk.CallToolRequest, none) (*sdk.CallToolResult, any, error) {
		server.AddPrompt(&sdk.Prompt{Name: "zz_comes_and_goes", Description: "of the suite"}, promptOf(textOf("here")))
		return said("changed"), nil, nil
	})
	sdk.AddTool(server, &sdk.Tool{Name: "json_schema_2020_12_tool", Description: "of the suite", InputSchema: json.RawMessage(`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
		"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
		"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},
		"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},
		"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}`)},
		func(_ context.Context, _ *sdk.CallToolRequest, in map[string]any) (*sdk.CallToolResult, any, error) {
			return said("%v", in), nil, nil
		})
	sdk.AddTool(server, &sdk.Tool{Name: "test_x_mcp_header", Description: "of the suite", InputSchema: json.RawMessage(`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"level":{"type":"integer"}}}`)},
		func(_ context.Context, _ *sdk.CallToolRequest, in map[string]any) (*sdk.CallToolResult, any, error) {
			return said("region=%v", in["region"]), nil, nil
		})
	sdk.AddTool(server, &sdk.Tool{Name: "test_missing_capability", Description: "of the suite"}, func(_ context.Context, req *sdk.CallToolRequest, _ none) (*sdk.CallToolResult, any, error) {
		if c := req.ClientCapabilities(); c != nil && c.Sampling != nil {
			return said("it samples"), nil, nil
		}
		data, err := json.Marshal(map[string]any{"requiredCapabilities": map[string]any{"sampling": map[string]any{}}})
		if err != nil {
			return nil, nil, err
		}
		return nil, nil, &jsonrpc.Error{Code: sdk.CodeMissingRequiredClientCapabilities, Message: "sampling is needed", Data: data}
	})
}

// addAskingTools adds the tools that query the client during a call, as servers did up to 2025-11-25.
func addAskingTools(server *sdk.Server) {
	sdk.AddTool(server, &sdk.Tool{Name: "test_sampling", Description: "of the suite"}, func(ctx context.Context, req *sdk.CallToolRequest, in struct {
		Prompt string `json:"prompt"`
	}) (*sdk.CallToolResult, any, error) {
		r, err := req.Session.CreateMessage(ctx, sampling(in.Prompt))
		if err != nil {
			return nil, nil, err
		}
		return said("LLM response: %s", r.Content.(*sdk.TextContent).Text), nil, nil
	})
	ask := func(name string, schema func(message string) (string, any)) {
		sdk.AddTool(server, &sdk.Tool{Name: name, Description: "of the suite"}, func(ctx context.Context, req *sdk.CallToolRequest, in struct {
			Message string `json:"message,omitempty"`
		}) (*sdk.CallToolResult, any, error) {
			text, form := schema(in.Message)
			r, err := req.Session.Elicit(ctx, &sdk.ElicitParams{Message: text, RequestedSchema: form})
			if err != nil {
				return nil, nil, err
			}
			return said("Elicitation result: action=%s, content=%v", r.Action, r.Content), nil, nil
		})
	}
	ask("test_elicitation", func(m string) (string, any) {
		return m, form("username", map[string]any{"type": "string", "description": "a name"})
	})
	ask("test_elicitation_sep1034_defaults", func(string) (string, any) {
		return "defaults", json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},
			"score":{"type":"number","default":95.5},"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","default":true}}}`)
	})
	ask("test_elicitation_sep1330_enums", func(string) (string, any) {
		return "enums", json.RawMessage(`{"type":"object","properties":{"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
			"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First"},{"const":"value2","title":"Second"},{"const":"value3","title":"Third"}]},
			"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["One","Two","Three"]},
			"untitledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"type":"string","enum":["option1","option2","option3"]}},
			"titledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"anyOf":[{"const":"value1","title":"First"},{"const":"value2","title":"Second"},{"const":"value3","title":"Third"}]}}}}`)
	})
}

// form returns a form's schema with one field.
func form(name string, kind map[string]any) map[string]any {
	return map[string]any{"type": "object", "properties": map[string]any{name: kind}, "required": []string{name}}
}

// sampling returns a request for the client's model.
func sampling(prompt string) *sdk.CreateMessageParams {
	return &sdk.CreateMessageParams{Messages: []*sdk.SamplingMessage{{Role: "user", Content: textOf("%s", prompt)}}, MaxTokens: 50}
}

// elicit returns a form with one field.
func elicit(message, name, kind string) *sdk.ElicitParams {
	return &sdk.ElicitParams{Mode: "form", Message: message, RequestedSchema: form(name, map[string]any{"type": kind})}
}

// accepted returns the content of an accepted form, or nil.
func accepted(m sdk.InputResponseMap, key string) map[string]any {
	if r, ok := m[key].(*sdk.ElicitResult); ok && r.Action == "accept" {
		return r.Content
	}
	return nil
}

func sampled(m sdk.InputResponseMap, key string) (string, bool) {
	if r, ok := m[key].(*sdk.CreateMessageWithToolsResult); ok {
		for _, c := range r.Content {
			if t, ok := c.(*sdk.TextContent); ok {
				return t.Text, true
			}
		}
	}
	return "", false
}

// inputTool adds a tool of the multi-round-trip form: it gets its answers, and sends its questions with a sealed
// request state.
func inputTool(server *sdk.Server, name string, do func(*sdk.CallToolParamsRaw, *sdk.CallToolRequest) (*sdk.CallToolResult, error)) {
	sdk.AddTool(server, &sdk.Tool{Name: "test_input_required_result_" + name, Description: "of the suite"}, func(_ context.Context, req *sdk.CallToolRequest, _ none) (*sdk.CallToolResult, any, error) {
		r, err := do(req.Params, req)
		return r, nil, err
	})
}

// asks returns a result with a question to the client.
func asks(m sdk.InputRequestMap) (*sdk.CallToolResult, error) {
	return &sdk.CallToolResult{InputRequests: m}, nil
}

// addInputTools adds the tools that query the client by their results.
func addInputTools(server *sdk.Server, seal *sealer) {
	inputTool(server, "elicitation", func(p *sdk.CallToolParamsRaw, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if name, _ := accepted(p.InputResponses, "user_name")["name"].(string); name != "" {
			return said("Hello, %s!", name), nil
		}
		return asks(sdk.InputRequestMap{"user_name": elicit("Your name?", "name", "string")})
	})
	inputTool(server, "sampling", func(p *sdk.CallToolParamsRaw, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if text, ok := sampled(p.InputResponses, "capital_question"); ok {
			return said("Sampling response: %s", text), nil
		}
		return asks(sdk.InputRequestMap{"capital_question": sampling("What is the capital of France?")})
	})
	inputTool(server, "list_roots", func(p *sdk.CallToolParamsRaw, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if r, ok := p.InputResponses["client_roots"].(*sdk.ListRootsResult); ok {
			return said("%d roots", len(r.Roots)), nil
		}
		return asks(sdk.InputRequestMap{"client_roots": &sdk.ListRootsParams{}})
	})
	for _, name := range []string{"request_state", "tampered_state"} {
		inputTool(server, name, func(p *sdk.CallToolParamsRaw, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			if p.RequestState != "" {
				if _, err := seal.open(p.RequestState, "suite", p.Name, nil); err != nil {
					return nil, invalidParams("%v", err)
				}
				if accepted(p.InputResponses, "confirm") != nil {
					return said("state-ok: it came back as it went"), nil
				}
			}
			r, err := asks(sdk.InputRequestMap{"confirm": elicit("Sure?", "ok", "boolean")})
			r.RequestState = seal.close(&requestState{Who: "suite", Tool: p.Name})
			return r, err
		})
	}
	inputTool(server, "multiple_inputs", func(p *sdk.CallToolParamsRaw, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		name, _ := accepted(p.InputResponses, "user_name")["name"].(string)
		greeting, ok := sampled(p.InputResponses, "greeting")
		roots, has := p.InputResponses["client_roots"].(*sdk.ListRootsResult)
		if name != "" && ok && has {
			return said("%s %s, %d roots", greeting, name, len(roots.Roots)), nil
		}
		r, err := asks(sdk.InputRequestMap{"user_name": elicit("Your name?", "name", "string"), "greeting": sampling("A greeting"), "client_roots": &sdk.ListRootsParams{}})
		r.RequestState = seal.close(&requestState{Who: "suite", Tool: p.Name})
		return r, err
	})
	inputTool(server, "multi_round", func(p *sdk.CallToolParamsRaw, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		st := &requestState{}
		if p.RequestState != "" {
			var err error
			if st, err = seal.open(p.RequestState, "suite", p.Name, nil); err != nil {
				return nil, invalidParams("%v", err)
			}
		}
		next := func(question, key, name, known string) (*sdk.CallToolResult, error) {
			r, err := asks(sdk.InputRequestMap{key: elicit(question, name, "string")})
			r.RequestState = seal.close(&requestState{Who: "suite", Tool: p.Name, Kind: key, Session: known})
			return r, err
		}
		switch st.Kind {
		case "":
			return next("Your name?", "step1", "name", "")
		case "step1":
			name, _ := accepted(p.InputResponses, "step1")["name"].(string)
			return next("Your colour?", "step2", "color", name)
		}
		color, _ := accepted(p.InputResponses, "step2")["color"].(string)
		return said("%s likes %s", st.Session, color), nil
	})
	inputTool(server, "capabilities", func(p *sdk.CallToolParamsRaw, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if len(p.InputResponses) > 0 {
			return said("answered"), nil
		}
		m, caps := sdk.InputRequestMap{}, req.ClientCapabilities()
		if caps != nil && caps.Elicitation != nil {
			m["user_name"] = elicit("Your name?", "name", "string")
		}
		if caps != nil && caps.Sampling != nil {
			m["greeting"] = sampling("A greeting")
		}
		if caps != nil && caps.RootsV2 != nil {
			m["client_roots"] = &sdk.ListRootsParams{}
		}
		if len(m) == 0 {
			return said("nothing can be asked"), nil
		}
		return asks(m)
	})
}

// addFixtureResources adds the resources that the suite reads.
func addFixtureResources(server *sdk.Server) {
	add := func(name, mime string, c sdk.ResourceContents) {
		server.AddResource(&sdk.Resource{URI: "test://" + name, Name: name, Description: name, MIMEType: mime}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			one := c
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{&one}}, nil
		})
	}
	add("static-text", "text/plain", sdk.ResourceContents{Text: "This is the content of the static text resource."})
	add("static-binary", "image/png", sdk.ResourceContents{Blob: onePixel})
	add("watched-resource", "text/plain", sdk.ResourceContents{Text: "watched"})
	server.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: "test://template/{id}/data", Name: "template", MIMEType: "application/json"},
		func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(req.Params.URI, "test://template/"), "/data")
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{Text: fmt.Sprintf(`{"id":%q,"templateTest":true,"data":"Data for ID: %s"}`, id, id)}}}, nil
		})
}

// promptOf returns a prompt with contents.
func promptOf(contents ...sdk.Content) sdk.PromptHandler {
	return func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		r := &sdk.GetPromptResult{}
		for _, c := range contents {
			r.Messages = append(r.Messages, &sdk.PromptMessage{Role: "user", Content: c})
		}
		return r, nil
	}
}

// addFixturePrompts adds the prompts that the suite reads.
func addFixturePrompts(server *sdk.Server) {
	server.AddPrompt(&sdk.Prompt{Name: "test_simple_prompt", Description: "simple"}, promptOf(textOf("This is a simple prompt for testing.")))
	server.AddPrompt(&sdk.Prompt{Name: "test_prompt_with_image", Description: "of the suite"}, promptOf(&sdk.ImageContent{Data: onePixel, MIMEType: "image/png"}, textOf("look")))
	server.AddPrompt(&sdk.Prompt{Name: "test_prompt_with_arguments", Description: "of the suite", Arguments: []*sdk.PromptArgument{{Name: "arg1", Required: true}, {Name: "arg2", Required: true}}},
		func(ctx context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return promptOf(textOf("Prompt with arguments: arg1='%s', arg2='%s'", req.Params.Arguments["arg1"], req.Params.Arguments["arg2"]))(ctx, req)
		})
	server.AddPrompt(&sdk.Prompt{Name: "test_prompt_with_embedded_resource", Description: "of the suite", Arguments: []*sdk.PromptArgument{{Name: "resourceUri", Required: true}}},
		func(ctx context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return promptOf(&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: req.Params.Arguments["resourceUri"], MIMEType: "text/plain", Text: "embedded"}}, textOf("read"))(ctx, req)
		})
	server.AddPrompt(&sdk.Prompt{Name: "test_input_required_result_prompt", Description: "of the suite"}, func(ctx context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		if c := accepted(req.Params.InputResponses, "user_context"); c != nil {
			return promptOf(textOf("Context: %v", c["context"]))(ctx, req)
		}
		return &sdk.GetPromptResult{InputRequests: sdk.InputRequestMap{"user_context": elicit("Context?", "context", "string")}}, nil
	})
}

func newTaskID() string { return rand.Text() }

func now() string { return taskTime(time.Now()) }
