set(DTJ_CHECK_CONTRACT_TESTS
  test_contract_batch.cpp
  test_contract_job.cpp
  test_contract_mesh.cpp
  test_contract_placeholders.cpp
  test_contract_policy.cpp
  test_contract_units.cpp
)
