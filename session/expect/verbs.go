package expect

import "go.yaml.in/yaml/v3"

// verb is a step's first key.
type verb struct {
	name   string
	decode func(d *decoder, v *yaml.Node, extra fields) action
	extra  []string // further keys that the step may have
}

// stepKeys are keys that any step may have.
var stepKeys = []string{"name", "timeout", "label"}

// verbs is the table of them. It is filled at the start because steps hold steps.
var verbs []verb

func init() {
	verbs = []verb{
		{"spawn", decodeSpawn, nil},
		{"send", decodeTyping(InputText), []string{"enter"}},
		{"line", decodeTyping(inputLine), nil},
		{"keys", decodeTyping(InputKeys), nil},
		{"paste", decodeTyping(InputPaste), []string{"enter"}},
		{"secret", decodeTyping(InputSecret), []string{"enter", "force"}},
		{"expect", decodeExpect, nil},
		{"loop", decodeLoop, []string{"do", "as"}},
		{"repeat", decodeRepeat, []string{"until", "max"}},
		{"if", decodeIf, []string{"then", "else"}},
		{"wait", decodeWait, nil},
		{"assert", decodeAssert, nil},
		{"capture", decodeCapture, nil},
		{"set", decodeSet, nil},
		{"call", decodeCall, []string{"with"}},
		{"include", decodeInclude, nil},
		{"fail", decodeFail, nil},
		{"break", decodeLeave(false), nil},
		{"continue", decodeLeave(true), nil},
	}
}

// verbNamed returns the verb with this name, or nil.
func verbNamed(name string) *verb {
	for i := range verbs {
		if verbs[i].name == name {
			return &verbs[i]
		}
	}
	return nil
}
