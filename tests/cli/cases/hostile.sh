# 10,000 levels deep
printf '[%.0s' $(seq 10000) > deep.json; espalier info deep.json

{ printf '{"format": "espalier-platform/1", "nodes": '; cat deep.json; } | espalier info -

{ printf '{"a":%.0s' $(seq 10000); } | espalier info -

# Lines of 2 GB: refused by their size before they are read, or when they pass the limit
truncate -s 2G zeroes; espalier info zeroes

espalier info - < zeroes

{ printf '{"format": "espalier-platform/1", "name": "'; cat zeroes; } | espalier info -

espalier import --from edges zeroes -o never.json; ls
