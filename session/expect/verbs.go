package expect

import "go.yaml.in/yaml/v3"

// verb is the first key of a step.
type verb struct {
	name      string
	decode    func(d *decoder, v *yaml.Node, extra fields) action
	modifiers []string // further keys that the step may have
}

// stepKeys are keys that any step may have.
var stepKeys = []string{"name", "timeout", "label"}

// verbs has all verbs. init fills it, because the decoders of nested steps refer to it.
var verbs []verb

func init() {
	verbs = []verb{
		{"spawn", decodeSpawn, nil},
		{"send", decodeInput(InputText), []string{"enter"}},
		{"line", decodeInput(inputLine), nil},
		{"keys", decodeInput(InputKeys), nil},
		{"paste", decodeInput(InputPaste), []string{"enter"}},
		{"secret", decodeInput(InputSecret), []string{"enter", "force"}},
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
		{"break", decodeLoopControl(false), nil},
		{"continue", decodeLoopControl(true), nil},
	}
}

// verbNamed returns the verb with a name, or nil.
func verbNamed(name string) *verb {
	for i := range verbs {
		if verbs[i].name == name {
			return &verbs[i]
		}
	}
	return nil
}
