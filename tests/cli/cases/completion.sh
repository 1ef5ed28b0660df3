espalier completion bash | bash -n

# complete WORD...: what the shell would offer for the last word
cat > complete << 'END'
source <(espalier completion bash)
compopt() { :; }
COMP_WORDS=(espalier "$@") COMP_CWORD=$#
_espalier
printf '%s\n' "${COMPREPLY[@]}" | sort
END
touch one.json two.json

bash complete '' | grep inf

bash complete imp

bash complete generate t

bash complete info --

bash complete generate tiers --preset 6

bash complete generate tiers --preset = 3

bash complete info o

bash complete import x.xml --from s

bash complete import x.xml --output t

bash complete help g
