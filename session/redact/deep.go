package redact

import "reflect"

// RedactDeep masks the strings in a value: in its fields, elements and pointers. v is a pointer; maps and shared values are
// replaced, not written to. It leaves []byte alone.
func (s *Set) RedactDeep(v any) {
	if !s.Empty() {
		RewriteStrings(v, s.RedactText)
	}
}

// RewriteStrings changes each string in a value, as RedactDeep does.
func RewriteStrings(v any, change func(string) string) {
	if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer && !p.IsNil() {
		p.Elem().Set(rewriter{change, nil}.rewrite(p.Elem(), 0))
	}
}

// RewriteStringsIn changes the strings within those parts of a value that have one of the types.
func RewriteStringsIn(v any, types map[reflect.Type]bool, change func(string) string) {
	if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer && !p.IsNil() {
		p.Elem().Set(rewriter{change, types}.rewrite(p.Elem(), 0))
	}
}

// rewriter changes strings. types are the types within which it does; nil: everywhere.
type rewriter struct {
	change func(string) string
	types  map[reflect.Type]bool
}

// maxDepth bounds the recursion for values that refer to themselves.
const maxDepth = 32

// rewrite returns v with its strings changed.
func (r rewriter) rewrite(v reflect.Value, depth int) reflect.Value {
	if depth > maxDepth || !canHoldText(v.Kind()) {
		return v
	}
	if r.types[v.Type()] {
		r.types = nil
	}
	switch v.Kind() {
	case reflect.String:
		text := v.String()
		if r.types != nil {
			return v
		}
		if got := r.change(text); got != text {
			return reflect.ValueOf(got).Convert(v.Type())
		}
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return v
		}
		got := r.rewrite(v.Elem(), depth+1)
		if v.Kind() == reflect.Interface {
			return got
		}
		p := reflect.New(v.Type().Elem())
		p.Elem().Set(got)
		return p
	case reflect.Slice:
		if v.IsNil() || !canHoldText(v.Type().Elem().Kind()) {
			return v
		}
		list := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			list.Index(i).Set(r.rewrite(v.Index(i), depth+1))
		}
		return list
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		m := reflect.MakeMapWithSize(v.Type(), v.Len())
		for it := v.MapRange(); it.Next(); {
			m.SetMapIndex(it.Key(), r.rewrite(it.Value(), depth+1))
		}
		return m
	case reflect.Struct:
		c := reflect.New(v.Type()).Elem()
		c.Set(v)
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				c.Field(i).Set(r.rewrite(v.Field(i), depth+1))
			}
		}
		return c
	}
	return v
}

// canHoldText reports whether values of a kind may contain strings.
func canHoldText(k reflect.Kind) bool {
	switch k {
	case reflect.String, reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map, reflect.Struct:
		return true
	}
	return false
}
