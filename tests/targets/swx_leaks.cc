// What DPDK 22.11 does not give back, so that the leak sanitizer looks at the rest: two arrays of
// each table (rte_swx_pipeline_table_config), and what rte_swx_pipeline_codegen() read.
#ifdef ROOST_SANITIZED
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:librte_pipeline\n"; }
#endif
